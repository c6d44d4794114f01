/* What a page can do beyond its text: find and sort papers, draw plots, copy commands. */
"use strict";
(() => {
  const root = document.body.dataset.root;
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const loaded = new Map();

  function load(name) {
    if (!loaded.has(name)) {
      loaded.set(name, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = `${root}assets/${name}`;
        script.onload = done;
        script.onerror = () => failed(new Error(`${name} can't be read`));
        document.head.append(script);
      }));
    }
    return loaded.get(name);
  }

  /* Plots. */
  const dark = matchMedia("(prefers-color-scheme: dark)");

  function theme(width) {
    const style = getComputedStyle(document.documentElement);
    const of = name => style.getPropertyValue(name).trim();
    const font = getComputedStyle(document.body).fontFamily;
    const text = { labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
    return {
      background: null, font, aria: false, padding: 4,
      view: { stroke: null },
      axis: {
        ...text, labelColor: of("--soft"), titleColor: of("--soft"), gridColor: of("--line"), gridOpacity: .7,
        domainColor: of("--soft"), tickColor: of("--soft"), labelLimit: Math.min(230, width * .38),
        titleLimit: width * .95, labelOverlap: true,
      },
      axisYNominal: { labelColor: of("--ink"), grid: false },
      legend: { ...text, labelColor: of("--ink"), titleColor: of("--soft"), symbolSize: 60 },
      title: { color: of("--ink"), font, fontSize: 13, fontWeight: 600, anchor: "start", limit: width * .95 },
      style: {
        region: { color: of("--region"), fillOpacity: Number(of("--region-opacity")) },
        edge: { color: of("--region"), strokeDash: [4, 3], strokeWidth: 1.3, strokeOpacity: .9 },
        interval: { color: of("--s1"), fillOpacity: .2 },
      },
      mark: { color: of("--s1") },
      line: { strokeWidth: 2 },
      point: { size: 34 },
      text: { color: of("--ink"), font },
      range: {
        category: [1, 2, 3, 4, 5, 6, 7, 8].map(at => of(`--s${at}`)),
        verdict: [of("--holds"), of("--fails"), of("--undecided")],
      },
    };
  }

  /* The width that a figure has, or would have where it lies in something closed. */
  function roomFor(figure) {
    for (let at = figure; at; at = at.parentElement) {
      if (at.clientWidth) {
        const style = getComputedStyle(at);
        return Math.floor(at.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
      }
    }
    return 600;
  }

  /* It warns that lines of a fixed height can't be fitted to one, which is what is wanted. */
  const quiet = { level: () => quiet, error: (...said) => { console.error(...said); return quiet; }, warn: () => quiet, info: () => quiet, debug: () => quiet };

  /* Titles of axes in lines that fit. */
  function wrap(spec, axis, most) {
    for (const layer of spec.layer || []) {
      const of = layer.encoding && layer.encoding[axis];
      if (!of || typeof of.title !== "string" || of.title.length <= most) continue;
      const lines = [""];
      for (const word of of.title.split(" ")) {
        if (lines.at(-1) && lines.at(-1).length + word.length >= most) lines.push("");
        lines[lines.length - 1] += (lines.at(-1) && " ") + word;
      }
      of.title = lines;
    }
  }

  async function draw(figure) {
    const width = roomFor(figure);
    const asked = `${width} ${dark.matches}`;
    if (figure.dataset.drawn === asked) return;
    figure.dataset.drawn = asked;
    await load("vega.js");
    const { compile, parse, View, Warn, expressionInterpreter } = globalThis.probatumVega;
    const spec = JSON.parse(figure.querySelector("script").textContent);
    spec.width = width;
    // Beside names of lines there is less room than there is width.
    const named = (spec.layer || []).some(layer => layer.encoding && layer.encoding.y && layer.encoding.y.type === "nominal");
    const room = named ? width - Math.min(230, width * .38) : width;
    wrap(spec, "x", Math.max(20, Math.floor(room / 6.6)));
    wrap(spec, "y", Math.floor((spec.height || 0) / 7));
    spec.autosize = { type: typeof spec.height === "number" ? "fit" : "fit-x", contains: "padding" };
    const chart = figure.querySelector(".chart");
    const drawn = document.createElement("div");
    const view = new View(parse(compile(spec, { config: theme(width), logger: quiet }).spec, null, { ast: true }), {
      expr: expressionInterpreter, renderer: "svg", container: drawn, logLevel: Warn, hover: false,
    });
    await view.runAsync();
    const svg = drawn.querySelector("svg");
    svg.setAttribute("aria-hidden", "true");
    chart.replaceChildren(svg);
    view.finalize();
    hold();
  }

  function plots() {
    const figures = all("figure.plot");
    if (!figures.length) return;
    const near = new IntersectionObserver(entries => {
      for (const entry of entries) if (entry.isIntersecting) { draw(entry.target); }
    }, { rootMargin: "600px" });
    figures.forEach(figure => near.observe(figure));
    // The others follow in quiet moments, so that printing and opening find them drawn.
    const waiting = figures.slice();
    const idle = globalThis.requestIdleCallback || (work => setTimeout(work, 50));
    const next = async () => {
      const figure = waiting.shift();
      if (!figure) return;
      await draw(figure);
      idle(next);
    };
    idle(next);
    const again = () => { waiting.push(...figures); idle(next); };
    dark.addEventListener("change", again);
    let width = innerWidth, timer;
    addEventListener("resize", () => {
      if (innerWidth === width) return;
      width = innerWidth;
      clearTimeout(timer);
      timer = setTimeout(again, 150);
    });
  }

  /* On paper nothing is closed. */
  function printing() {
    let opened = [];
    const open = () => {
      opened = opened.concat(all("details:not([open])"));
      opened.forEach(details => { details.open = true; });
    };
    const close = () => { opened.forEach(details => { details.open = false; }); opened = []; };
    const print = matchMedia("print");
    if (print.matches) open();
    print.addEventListener("change", event => { if (event.matches) open(); else close(); });
    addEventListener("beforeprint", open);
    addEventListener("afterprint", close);
  }

  /* A link to something closed opens it, and what it leads to stays in sight while plots are
     drawn above it, until the reader moves. */
  let held = null;

  function named(hash) {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)));
    } catch {
      return null;
    }
  }

  function hold() {
    if (held) held.scrollIntoView({ behavior: "instant" });
  }

  function unfold() {
    held = location.hash.length > 1 ? named(location.hash) : null;
    for (let at = held; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    hold();
  }

  for (const move of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(move, () => { held = null; }, { passive: true });
  }

  function copying() {
    if (!navigator.clipboard) return;
    for (const place of all(".command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(place.querySelector("code").textContent);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(place.querySelector("code"));
          button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      place.append(button);
    }
  }

  /* The catalog: what is looked for stands in the address, so that it can be sent to others. */
  function catalog() {
    const table = document.getElementById("catalog");
    if (!table) return;
    const body = table.tBodies[0];
    const fields = ["search", "domain", "verdict", "scope", "fidelity", "sort"];
    const field = Object.fromEntries(fields.map(name => [name, document.getElementById(name)]));
    const count = document.getElementById("count");
    const found = document.getElementById("found");
    const rows = [...body.rows].map((row, at) => {
      const claims = row.dataset.claims.split(" ").filter(Boolean).map(entry => {
        const [pair, n] = entry.split(":");
        const [verdict, scope] = pair.split("/");
        return { verdict, scope, n: Number(n) };
      });
      const title = row.cells[0].querySelector("a").textContent;
      return { ...row.dataset, row, at, claims, title, text: fold(`${title} ${row.dataset.paper} ${row.dataset.domain}`) };
    });
    const bySlug = new Map(rows.map(entry => [entry.paper, entry]));
    let statements = [];

    function fold(text) {
      return text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
    }

    async function know() {
      await load("search.js");
      if (statements.length) return;
      for (const [slug, , methods, claims] of globalThis.probatumSearch) {
        const entry = bySlug.get(slug);
        if (!entry) continue;
        entry.text += ` ${fold(methods)}`;
        for (const [id, verdict, scope, statement] of claims) {
          statements.push({ entry, id, verdict, scope, statement, text: fold(`${id} ${statement}`) });
        }
      }
      show();
    }

    const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
    const amount = (entry, verdict, scope) => entry.claims
      .filter(of => (!verdict || of.verdict === verdict) && (!scope || of.scope === scope))
      .reduce((sum, of) => sum + of.n, 0);

    const orders = {
      title: (a, b) => a.at - b.at,
      domain: (a, b) => a.domain.localeCompare(b.domain) || a.at - b.at,
      claims: (a, b) => amount(b) - amount(a) || a.at - b.at,
    };
    const order = name => orders[name] || ((a, b) => amount(b, name) - amount(a, name) || a.at - b.at);

    function show() {
      const words = fold(field.search.value).split(/\s+/).filter(Boolean);
      const { value: verdict } = field.verdict, { value: scope } = field.scope;
      const chosen = entry => (!field.domain.value || entry.domain === field.domain.value)
        && (!field.fidelity.value || entry.fidelity === field.fidelity.value)
        && (!verdict && !scope || amount(entry, verdict, scope));
      const has = text => words.every(word => text.includes(word));
      const claims = words.length
        ? statements.filter(of => has(of.text) && chosen(of.entry)
          && (!verdict || of.verdict === verdict) && (!scope || of.scope === scope)) : [];
      const through = new Set(claims.map(of => of.entry));
      const kept = rows.filter(entry => chosen(entry) && (has(entry.text) || through.has(entry)));
      const seen = new Set(kept);
      for (const entry of rows) entry.row.hidden = !seen.has(entry);
      kept.sort(order(field.sort.value));
      const ahead = kept.map(entry => entry.row);
      if (ahead.some((row, at) => body.rows[at] !== row)) body.append(...ahead);
      const total = kept.reduce((sum, entry) => sum + amount(entry, verdict, scope), 0);
      const of = [verdict, scope && `of scope ${scope}`].filter(Boolean).join(", ");
      count.textContent = kept.length
        ? `${counted(kept.length, "paper")}, ${words.length ? counted(claims.length, "matching claim") : counted(total, "claim")}${of ? ` (${of})` : ""}`
        : "No paper matches. Clear the search or a filter.";
      list(claims.slice(0, 30));
      marked(field.sort.value);
      remember();
    }

    function list(claims) {
      found.hidden = !claims.length;
      found.replaceChildren(...claims.map(of => {
        const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
        link.href = `papers/${of.entry.paper}.html#${of.id}`;
        link.textContent = `${of.entry.paper}/${of.id}`;
        text.textContent = of.statement;
        item.append(link, ` ${of.verdict}`, text);
        return item;
      }));
    }

    function marked(sort) {
      for (const head of all("th[data-sort]", table)) {
        const own = head.dataset.sort === sort;
        if (own) head.setAttribute("aria-sort", sort === "claims" ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      }
    }

    function remember() {
      const state = new URLSearchParams();
      for (const name of fields) if (field[name].value && !(name === "sort" && field[name].value === "title")) state.set(name, field[name].value);
      const hash = state.toString();
      if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : "#");
    }

    function recall() {
      const state = new URLSearchParams(location.hash.slice(1));
      for (const name of fields) {
        const value = state.get(name) || (name === "sort" ? "title" : "");
        field[name].value = value;
        if (field[name].value !== value) field[name].value = name === "sort" ? "title" : "";
      }
      if (field.search.value) know();
      show();
    }

    for (const head of all("th[data-sort]", table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => { field.sort.value = head.dataset.sort; show(); });
      head.replaceChildren(button);
    }
    const form = field.search.form;
    form.hidden = false;
    form.addEventListener("submit", event => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(show));
    form.addEventListener("input", show);
    field.search.addEventListener("focus", know, { once: true });
    field.search.addEventListener("input", know);
    addEventListener("hashchange", recall);
    recall();
  }

  catalog();
  plots();
  printing();
  copying();
  if (!document.getElementById("catalog")) { unfold(); addEventListener("hashchange", unfold); }
})();
