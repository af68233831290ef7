// What both libraries' pages share: the sizes, the clock, and how results leave the page.
//
// A page is opened as PAGE?lengths=64,256&batch=64 and calls `peer.run`. Its results are in `window.result`, a promise of a list with one
// entry per length, and in the title as JSON, from the first length on.

window.peer = (() => {
  const query = new URLSearchParams(location.search);
  const number = (name, otherwise) => Number(query.get(name) ?? otherwise);

  // Softmax attention, SwiGLU, tied head: the toy model with the rule taken out. Without a final norm, biases or positions.
  const model = {
    vocab: number('vocab', 64),
    width: number('width', 64),
    heads: number('heads', 2),
    layers: number('layers', 2),
    mlp: number('mlp', 2),
    rate: number('lr', 1e-3),
  };
  const asked = {
    backend: query.get('backend') ?? 'webgpu',
    batch: number('batch', 64),
    lengths: (query.get('lengths') ?? '64,256').split(',').map(Number),
    samples: number('samples', 8),
    burst: number('burst', 10), // steps between two read-backs of the loss
    seconds: number('seconds', 45), // for the samples of one length
  };

  async function adapter() {
    const found = await navigator.gpu?.requestAdapter();
    if (!found) return 'no WebGPU adapter';
    const { vendor, architecture, device, description } = found.info;
    return [vendor, architecture, device, description].filter(Boolean).join(' ');
  }

  // Dispatches are counted where they are recorded, whichever library records them.
  let dispatches = 0;
  const pass = globalThis.GPUComputePassEncoder?.prototype;
  for (const name of pass ? ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'] : []) {
    const original = pass[name];
    pass[name] = function (...sizes) {
      dispatches += 1;
      return original.apply(this, sizes);
    };
  }

  /** Times `step()`, which queues one training step and answers with its loss; `read(loss)` waits for it and frees it, `drop(loss)` only frees it. */
  async function time({ step, read, drop }) {
    const began = performance.now();
    const first = await read(await step());
    const compile_ms = performance.now() - began;
    for (let warm = 0; warm < 3; warm++) await read(await step());
    const before = dispatches;
    await read(await step());
    const per_step = dispatches - before;

    const samples = [];
    let last = first;
    const until = performance.now() + 1000 * asked.seconds;
    while (samples.length < asked.samples && (samples.length === 0 || performance.now() < until)) {
      const start = performance.now();
      for (let queued = 1; queued < asked.burst; queued++) drop(await step());
      last = await read(await step());
      samples.push((performance.now() - start) / asked.burst);
    }
    if (!Number.isFinite(last) || last >= first) throw new Error(`the loss went from ${first} to ${last}: this is no training`);
    samples.sort((a, b) => a - b);
    return {
      ms: (samples[(samples.length - 1) >> 1] + samples[samples.length >> 1]) / 2, min: samples[0], max: samples.at(-1), samples: samples.length, burst: asked.burst,
      compile_ms, dispatches: per_step, first_loss: first, last_loss: last,
    };
  }

  /** `packaged` is the library's name on npm. `prepare({ model, backend, batch, length })` answers with what `time` takes, and may add `close()`. */
  function run(packaged, prepare) {
    const results = [];
    window.result = (async () => {
      const about = await fetch(`node_modules/${packaged}/package.json`).then((answer) => answer.json());
      for (const length of asked.lengths) {
        const named = { library: `${about.name} ${about.version}`, backend: asked.backend, adapter: await adapter(), batch: asked.batch, length, query: location.search };
        try {
          const made = await prepare({ model, backend: asked.backend, batch: asked.batch, length });
          results.push({ ...named, ...(await time(made)) });
          made.close?.();
        } catch (error) {
          results.push({ ...named, error: String(error?.message ?? error) });
        }
        document.title = JSON.stringify(results);
      }
      return results;
    })();
  }

  return { run };
})();
