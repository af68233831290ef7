// Presses Train in Palimpsest's page and reads how long a training step takes there. Evaluate this file, called as a function, in the opened page:
//   (await ...)(warm, seconds): seconds of training before the first reading, and of reading.
async (warm, seconds) => {
  const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));
  const text = (name) => document.querySelector(`[data-testid="${name}"]`)?.textContent ?? '';
  const until = async (what, limit, holds) => {
    const end = performance.now() + 1000 * limit;
    while (!holds()) {
      if (performance.now() > end) throw new Error(`${what}: not within ${limit} s; the page says: ${text('standing')}`);
      await pause(50);
    }
  };
  const figure = (name) => {
    const row = [...document.querySelectorAll('.figures div')].find((row) => row.querySelector('dt')?.textContent === name);
    return Number((row?.querySelector('dd')?.textContent ?? '').replace(/[^\d.]/g, ''));
  };
  const step = () => Number((document.querySelector('.progress .num')?.textContent ?? '').split(' of ')[0].replace(/\D/g, ''));

  await until('the untrained model', 240, () => text('standing').includes('untrained'));
  document.querySelector('[data-testid="train"]').click();
  await until('the first step', 120, () => step() > 0);
  await pause(1000 * warm);

  const { vendor = '', architecture = '' } = (await navigator.gpu?.requestAdapter())?.info ?? {};
  const shown = [];
  const [from, start] = [step(), performance.now()];
  while (performance.now() - start < 1000 * seconds || step() === from) {
    await pause(200);
    if (!text('standing').startsWith('Training')) throw new Error(`the page stopped: ${text('standing')}`);
    if (figure('Steps/s') > 0) shown.push(1000 / figure('Steps/s'));
  }
  const counted = (performance.now() - start) / (step() - from);
  document.querySelector('[data-testid="train"]').click();
  shown.sort((a, b) => a - b);
  return {
    // ms: from the rate that the page shows, over training alone. counted_ms: from its step counter and the clock, all else included.
    library: 'Palimpsest', adapter: [text('badge'), vendor, architecture].join(' ').trim(), query: location.search,
    ms: shown[shown.length >> 1], min: shown[0], max: shown.at(-1), counted_ms: counted, steps: step() - from,
  };
}
