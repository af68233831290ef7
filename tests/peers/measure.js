// Opens the peers' pages or Palimpsest's own in Chromium and prints what a training step takes there: one JSON object a line, then a table.
//
//   node measure.js tfjs   ['lengths=64,256&batch=64']      a library's page; every sample ends with a read-back of the loss
//   node measure.js jax-js ['lengths=64,256&batch=64' 'weights=flat']
//   node measure.js page   'SETTINGS' ['SETTINGS'...]       the page in ../../dist, with the settings of its links; `backend=cpu` is wasm
//
// --software: WebGPU on the CPU (SwiftShader). --seconds N: seconds of reading per setting of the page. $CHROMIUM: the browser.
import { createServer } from 'node:http';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm', '.css': 'text/css' };
const QUIET = ['--no-sandbox', '--enable-unsafe-webgpu', '--disable-background-networking', '--no-first-run', '--disable-component-update', '--disable-sync'];
const GPU = ['--ignore-gpu-blocklist', '--use-angle=vulkan', '--enable-features=Vulkan', '--disable-vulkan-surface'];
const SOFTWARE = ['--use-webgpu-adapter=swiftshader'];
const PAGES = { tfjs: 'tfjs_step.html', 'jax-js': 'jax_js_step.html' };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { software: { type: 'boolean', default: false }, seconds: { type: 'string', default: '12' } },
});
const [what, ...queries] = positionals;
if (what !== 'page' && !(what in PAGES)) {
  console.error(`the first argument is one of: page, ${Object.keys(PAGES).join(', ')}`);
  process.exit(2);
}

/** The installed Chromium: $CHROMIUM, or the usual names on PATH. */
function browser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** Serves the repository on a free port of this machine. */
function serve() {
  const server = createServer((request, response) => {
    const path = join(root, normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname)));
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, 'index.html') : path;
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

const server = await serve();
const site = `http://127.0.0.1:${server.address().port}`;
// Where no GPU is wanted none is asked for: without one, Chromium hangs on those flags.
const asksForGpu = what !== 'page' || !queries.every((query) => query.includes('backend=cpu'));
const flags = values.software ? SOFTWARE : asksForGpu ? GPU : [];
const opened = await chromium.launch({ executablePath: browser(), args: [...QUIET, ...flags] });
const rows = [];
try {
  for (const query of queries.length > 0 ? queries : ['']) {
    const page = await opened.newPage();
    if (what === 'page') {
      await page.goto(`${site}/dist/?${query}&steps=1000000&eval_every=100000`);
      const call = readFileSync(new URL('page_step.js', import.meta.url), 'utf8').trim();
      rows.push({ asked: query, ...(await page.evaluate(`(${call})(3, ${Number(values.seconds)})`)) });
    } else {
      await page.goto(`${site}/tests/peers/${PAGES[what]}?${query}`);
      rows.push(...(await page.evaluate('window.result')));
    }
    await page.close();
    for (const row of rows.slice(rows.findIndex((row) => !row.printed))) {
      console.log(JSON.stringify(row));
      Object.defineProperty(row, 'printed', { value: true });
    }
  }
} finally {
  await opened.close();
  server.close();
}
const short = (number) => (number === undefined ? '' : Number(number.toPrecision(4)));
console.table(rows.map((row) => ({ what: row.library, length: row.length ?? row.asked, ms: short(row.ms), min: short(row.min), max: short(row.max), error: row.error ?? '' })));
if (rows.some((row) => row.error)) process.exitCode = 1;
