// What the pages of a report need of Vega, under one global name. `python tools/vendor_vega.py`
// makes src/probatum/report/assets/vega.js of it.
//
// `vega` itself is not imported: it only gathers its parts, and registers all of them. Left out are
// maps, force layouts, trees, word clouds, labels and crossfilter: a specification that asks for one
// ends with "Unrecognized transform". Of Vega-Lite only maps need any of these.
import {extend, Error as ErrorLevel, None, Warn} from 'vega-util';
import {transforms} from 'vega-dataflow';
import * as data from 'vega-transforms';
import * as layout from 'vega-view-transforms';
import * as encode from 'vega-encode';
import * as regression from 'vega-regression';
import * as voronoi from 'vega-voronoi';
import {View} from 'vega-view';
import {parse} from 'vega-parser';
import {compile} from 'vega-lite';
import {expressionInterpreter} from 'vega-interpreter';

extend(transforms, data, layout, encode, regression, voronoi);

globalThis.probatumVega = {
  compile,
  parse,
  View,
  Warn,
  Error: ErrorLevel,
  None,
  expressionInterpreter,
  version: VERSIONS, // set by the bundler from package.json
};
