"use strict";
// The page's only script: no library, no network. Pixel (0, 0) is the corner of the image.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const plots = JSON.parse(document.getElementById("data").textContent);
  const digits = (value) => (Number.isFinite(value) ? String(+value.toPrecision(10)) : "");
  const element = (name, attributes, parent) => {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.append(made);
    return made;
  };
  const cell = (row, content) => {
    const made = row.insertCell();
    made.append(content);
    return made;
  };
  const field = (type, label, value) => {
    const made = document.createElement("input");
    made.type = type;
    made.setAttribute("aria-label", label);
    if (type === "checkbox") made.checked = value;
    else made.value = value;
    return made;
  };
  const choice = (label, options, value) => {
    const made = document.createElement("select");
    made.setAttribute("aria-label", label);
    for (const option of options) made.append(new Option(option, option, false, option === value));
    return made;
  };

  // An axis through two handles; null where these say nothing.
  const through = (axis) => {
    const [a, b] = axis.handles;
    const log = axis.scale === "log";
    const [u, v] = [a, b].map((h) => (log ? Math.log10(h.value) : h.value));
    if (!Number.isFinite(u) || !Number.isFinite(v) || u === v || a.px === b.px) return null;
    const slope = (v - u) / (b.px - a.px);
    if (!Number.isFinite(slope) || slope === 0) return null;
    return { slope, intercept: u - slope * a.px, log };
  };
  const wrongWith = (name, axis) => {
    if (through(axis) !== null) return "";
    const [a, b] = axis.handles;
    const log = axis.scale === "log";
    const why = axis.handles.some((h) => !Number.isFinite(h.value)) ? "needs two numbers such as -0.5 or 2e-3"
      : log && (a.value <= 0 || b.value <= 0) ? "is log and needs two values above 0"
        : a.px === b.px ? "has both handles at one place" : "needs two different values";
    return `The ${name} axis ${why}.`;
  };
  const valueAt = (fit, px) => {
    const along = fit.slope * px + fit.intercept;
    return fit.log ? 10 ** along : along;
  };
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const csvOf = (state) => {
    const lines = ["curve,x,y,column,row"];
    const x = through(state.axes.x);
    for (const curve of state.curves) {
      if (!curve.keep) continue;
      const y = through((curve.axis === "right" && state.axes.right) || state.axes.y);
      for (const [column, row] of curve.px) {
        const values = [valueAt(x, column), valueAt(y, row), column, row].map(digits);
        lines.push([quoted(curve.name), ...values].join(","));
      }
    }
    return lines.join("\n") + "\n";
  };
  const calibrationOf = (state) => {
    const found = {};
    for (const [name, axis] of Object.entries(state.axes)) {
      const fit = through(axis);
      found[name] = {
        scale: axis.scale, slope: fit.slope, intercept: fit.intercept, label: axis.label,
        unit: axis.unit, calibrated: axis.calibrated || axis.handles.every((h) => h.given === true),
        points: axis.handles.map((h) => ({ px: h.px, value: h.value })),
      };
    }
    const curves = state.curves.map(({ name, keep, axis }) => ({ name, keep, axis }));
    return JSON.stringify({ axes: found, curves }, null, 1) + "\n";
  };
  const download = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const work = (section, plot) => {
    const find = (selector) => section.querySelector(selector);
    const [svg, drawn, handles] = [".figure", ".drawn", ".handles"].map(find);
    const { left, top, right, bottom } = plot.box;
    let state;
    const horizontal = (name) => name === "x";
    const sideOf = (name) => (name === "right" ? right : left);
    // Pixels of the image in a pixel of the screen: what is to be grasped keeps its size there.
    const grain = () => plot.width / (svg.getBoundingClientRect().width || plot.width);

    const drawCurves = () => {
      drawn.replaceChildren();
      element("rect", { class: "box", x: left, y: top, width: right - left, height: bottom - top }, drawn);
      if (find(".show-curves").checked) {
        for (const curve of state.curves) {
          if (!curve.keep) continue;
          if (curve.kind === "markers") {
            for (const [x, y] of curve.px) element("circle", { class: "curve", cx: x, cy: y, r: 3 * grain(), stroke: curve.contrast }, drawn);
            continue;
          }
          const points = curve.px.map((p) => p.join(",")).join(" ");
          element("polyline", { class: "curve-back", points }, drawn);
          element("polyline", { class: "curve", points, stroke: curve.contrast }, drawn);
        }
      }
      if (!find(".show-ticks").checked) return;
      for (const [name, axis] of Object.entries(state.axes)) {
        for (const tick of axis.ticks) {
          const [at, reach] = [sideOf(name), 6 * grain()];
          const line = horizontal(name)
            ? { x1: tick.px, x2: tick.px, y1: bottom - reach, y2: bottom + reach }
            : { x1: at - reach, x2: at + reach, y1: tick.px, y2: tick.px };
          const mark = element("line", { class: tick.inlier ? "tick" : "tick out", ...line }, drawn);
          element("title", {}, mark).textContent = `${tick.text} is read as ${digits(tick.value)}`;
        }
      }
    };
    const drawHandles = () => {
      handles.replaceChildren();
      for (const [name, axis] of Object.entries(state.axes)) {
        axis.handles.forEach((handle, i) => {
          const line = horizontal(name)
            ? { x1: handle.px, x2: handle.px, y1: top, y2: bottom }
            : { x1: left, x2: right, y1: handle.px, y2: handle.px };
          element("line", { class: "guide", ...line }, handles);
          const place = horizontal(name) ? { cx: handle.px, cy: bottom } : { cx: sideOf(name), cy: handle.px };
          const knob = element("circle", {
            class: "handle", r: 8 * grain(), ...place, tabindex: 0, role: "slider",
            "data-axis": name, "data-i": i, "aria-label": `${name} handle ${i + 1}, in pixels`,
            "aria-valuenow": handle.px.toFixed(1), "aria-valuemin": 0,
            "aria-valuemax": horizontal(name) ? plot.width : plot.height,
            "aria-valuetext": `pixel ${handle.px.toFixed(1)} is ${digits(handle.value)}`,
            "aria-orientation": horizontal(name) ? "horizontal" : "vertical",
          }, handles);
          element("title", {}, knob).textContent = `${name} = ${digits(handle.value)}`;
        });
      }
    };
    const draw = () => { drawCurves(); drawHandles(); };

    const judge = () => {
      const wrong = Object.entries(state.axes).map(([name, axis]) => wrongWith(name, axis)).filter(Boolean);
      find(".axes-error").textContent = wrong.join(" ");
      for (const button of [find(".csv"), find(".json")]) button.disabled = wrong.length > 0;
      return wrong.length === 0;
    };

    const tables = () => {
      const axes = find(".axes tbody");
      axes.replaceChildren();
      for (const [name, axis] of Object.entries(state.axes)) {
        axis.handles.forEach((handle, i) => {
          const row = axes.insertRow();
          cell(row, `${name} ${i + 1}`);
          const px = field("text", `${name} handle ${i + 1}, pixel`, handle.px.toFixed(1));
          px.inputMode = "decimal";
          px.dataset.axis = name;
          px.dataset.i = i;
          px.className = "px";
          px.addEventListener("change", () => {
            const asked = Number(px.value);
            if (px.value.trim() !== "" && Number.isFinite(asked)) move(name, i, asked);
            px.value = handle.px.toFixed(1);
          });
          cell(row, px);
          const value = field("text", `${name} handle ${i + 1}, value`, digits(handle.value));
          value.inputMode = "decimal";
          value.addEventListener("input", () => {
            handle.value = value.value.trim() === "" ? NaN : Number(value.value);
            handle.given = true;
            value.setAttribute("aria-invalid", String(!Number.isFinite(handle.value)));
            drawHandles();
            judge();
          });
          cell(row, value);
          if (i === 0) {
            const scale = choice(`${name} scale`, ["linear", "log"], axis.scale);
            scale.addEventListener("change", () => { axis.scale = scale.value; judge(); });
            cell(row, scale);
          } else {
            cell(row, axis.unit || axis.label || "");
          }
        });
      }
      const curves = find(".curves tbody");
      curves.replaceChildren();
      for (const curve of state.curves) {
        const row = curves.insertRow();
        const keep = field("checkbox", `keep ${curve.name}`, curve.keep);
        keep.addEventListener("change", () => { curve.keep = keep.checked; drawCurves(); });
        cell(row, keep);
        const name = field("text", "name of the curve", curve.name);
        name.addEventListener("input", () => { curve.name = name.value; });
        const swatch = element("svg", { class: "swatch", viewBox: "0 0 1 1", "aria-hidden": "true" });
        element("rect", { width: 1, height: 1, fill: curve.color }, swatch);
        cell(row, name).prepend(swatch);
        if ("right" in state.axes) {
          const axis = choice(`y axis of ${curve.name}`, ["left", "right"], curve.axis);
          axis.addEventListener("change", () => { curve.axis = axis.value; });
          cell(row, axis);
        } else {
          cell(row, "y");
        }
        cell(row, String(curve.px.length));
        cell(row, `${Math.round(100 * curve.confidence)} %`);
      }
    };

    const move = (name, i, px, focus) => {
      const most = horizontal(name) ? plot.width : plot.height;
      state.axes[name].handles[i].px = Math.min(most, Math.max(0, px));
      drawHandles();
      judge();
      const shown = section.querySelector(`.px[data-axis="${name}"][data-i="${i}"]`);
      if (shown) shown.value = state.axes[name].handles[i].px.toFixed(1);
      if (focus) svg.querySelector(`.handle[data-axis="${name}"][data-i="${i}"]`).focus();
    };

    const at = (event) => {
      const place = svg.getBoundingClientRect();
      return [
        ((event.clientX - place.left) / place.width) * plot.width,
        ((event.clientY - place.top) / place.height) * plot.height,
      ];
    };
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      const knob = event.target.closest(".handle");
      if (!knob || event.button !== 0) return;
      held = [knob.dataset.axis, Number(knob.dataset.i)];
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    // Else a browser takes the drag of a finger for scrolling, whatever touch-action says.
    svg.addEventListener("touchstart", (event) => {
      if (event.target.closest(".handle")) event.preventDefault();
    }, { passive: false });
    svg.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      const fits = [through(state.axes.x), through(state.axes.y)];
      find(".pointer").textContent = fits.every(Boolean)
        ? `x ${digits(+valueAt(fits[0], x).toPrecision(5))}, y ${digits(+valueAt(fits[1], y).toPrecision(5))}` : "";
      if (held) move(held[0], held[1], horizontal(held[0]) ? x : y);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => {
        if (held) move(held[0], held[1], state.axes[held[0]].handles[held[1]].px, true);
        held = null;
      });
    }
    svg.addEventListener("keydown", (event) => {
      const knob = event.target.closest(".handle");
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!knob || !step) return;
      event.preventDefault();
      const [name, i] = [knob.dataset.axis, Number(knob.dataset.i)];
      move(name, i, state.axes[name].handles[i].px + step * (event.altKey ? 0.1 : event.shiftKey ? 10 : 1), true);
    });

    const begin = () => {
      state = structuredClone({ axes: plot.axes, curves: plot.curves });
      for (const curve of state.curves) curve.keep = true;
      tables();
      draw();
      judge();
      find(".said").textContent = "";
    };
    for (const name of [".show-curves", ".show-ticks"]) find(name).addEventListener("change", drawCurves);
    find(".zoom").addEventListener("input", (event) => {
      svg.style.width = `${event.target.value}%`;
      draw();
    });
    find(".csv").addEventListener("click", () => {
      if (!judge()) return;
      download(`${plot.name}.csv`, "text/csv", csvOf(state));
      const kept = state.curves.filter((curve) => curve.keep).length;
      find(".said").textContent = `${plot.name}.csv: ${kept} of ${state.curves.length} curves`;
    });
    find(".json").addEventListener("click", () => {
      if (judge()) download(`${plot.name}.calibration.json`, "application/json", calibrationOf(state));
    });
    find(".reset").addEventListener("click", begin);
    window.addEventListener("resize", draw);
    for (const part of [".bar", ".panel"]) find(part).hidden = false;
    begin();
  };
  plots.forEach((plot, i) => work(document.getElementById(`plot-${i}`), plot));
})();
