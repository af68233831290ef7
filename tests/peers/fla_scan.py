"""FLA's Triton kernels for GDN-2 on their own, forward and with gradients: what Palimpsest's scans stand beside.

    fla_scan.py [--shapes 64x256x2x32 8x2048x4x64 8x8192x4x64] [--tuners 12]      needs an NVIDIA GPU, torch and fla-core

A shape is batch x length x heads x (K = V). bfloat16, as FLA trains. Prints one JSON object a line, times in ms, after the relative error
against the recurrence in float32. Kernels are timed as Python calls them and as a captured CUDA graph.

Triton compiles every configuration of every kernel before it picks one, minutes for each shape on one core. So several processes compile
a share each first, into Triton's cache on the disk; then this process tunes over all of them as FLA asks for.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F

from gated_delta import recurrent
from torch_step import captured, gpu_times, summary


def inputs(batch, length, heads, size, device='cuda'):
    """Random q, k, v, g, b, w in bfloat16, with unit queries and keys: [B, T, H, K]."""
    torch.manual_seed(0)

    def random():
        return torch.randn(batch, length, heads, size, device=device)

    x = [F.normalize(random(), dim=-1), F.normalize(random(), dim=-1), random()]
    x += [-F.softplus(random() - 3), random().sigmoid(), random().sigmoid()]
    return [t.bfloat16() for t in x]


def passes(shape):
    """The three passes of a shape as functions that take no arguments."""
    from fla.ops.gdn2 import chunk_gdn2, fused_recurrent_gdn2

    plain = inputs(*shape)
    learned = [t.clone().requires_grad_() for t in plain]
    upstream = torch.randn_like(plain[2])

    def both():
        return torch.autograd.grad(chunk_gdn2(*learned, scale=1.0)[0], learned, upstream)

    return plain, {
        'chunk forward': lambda: chunk_gdn2(*plain, scale=1.0)[0],
        'recurrent forward': lambda: fused_recurrent_gdn2(*plain, scale=1.0)[0],
        'chunk forward + backward': both,
    }


def keep_share(share, shares):
    """Leaves each kernel every `shares`-th of its configurations, so that the processes compile different ones."""
    from triton.runtime.autotuner import Autotuner

    original = Autotuner.__init__

    def init(self, fn, arg_names, configs, *rest, **named):
        original(self, fn, arg_names, configs, *rest, **named)
        self.configs = self.configs[share % len(self.configs) :: shares] or self.configs[:1]

    Autotuner.__init__ = init


def compile_share(shapes, share, shares):
    keep_share(share, shares)
    # The kernels are the same for every length: a short one will do.
    for batch, heads, size in sorted({(shape[0], *shape[2:]) for shape in shapes}):
        _, runs = passes((batch, 256, heads, size))
        for name in runs:
            runs[name]()
        torch.cuda.synchronize()


def compile_in_parallel(arguments, tuners, limit):
    """Fills Triton's cache. A process that fails or is late only leaves more to this one."""
    start = time.time()
    command = [sys.executable, __file__, *arguments, '--tuners', str(tuners), '--share']
    running = [subprocess.Popen([*command, str(share)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for share in range(tuners)]
    failed = []
    for process in running:
        try:
            _, said = process.communicate(timeout=max(1.0, limit - (time.time() - start)))
            if process.returncode != 0:
                failed.append(said.decode(errors='replace').strip().splitlines()[-1:])
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            failed.append('late')
    print(json.dumps(dict(what='compiled in parallel', tuners=tuners, seconds=round(time.time() - start, 1), failed=failed)), flush=True)


def measure(shape):
    batch, length, heads, size = shape
    about = dict(what='FLA GDN-2 scan, bf16', on=torch.cuda.get_device_name(), batch=batch, length=length, heads=heads, key=size, value=size)
    plain, runs = passes(shape)
    # The first 256 tokens stand for all: the scan is causal.
    expected = recurrent(*(t[:2, :256].float() for t in plain))
    for name, run in runs.items():
        try:
            start = time.time()
            out = run()
            torch.cuda.synchronize()
            tuned = round(time.time() - start, 1)
            row = about | {'pass': name, 'tuned_s': tuned}
            if torch.is_tensor(out):
                row['error'] = float((out[:2, :256].float() - expected).norm() / expected.norm())
            print(json.dumps(row | dict(run='eager') | summary(gpu_times(run))), flush=True)
            print(json.dumps(row | dict(run='CUDA graph') | summary(gpu_times(captured(run)))), flush=True)
        except Exception as error:  # one row that fails leaves the others
            print(json.dumps(about | {'pass': name, 'failed': repr(error)[:200]}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--shapes', nargs='+', default=['64x256x2x32', '8x2048x4x64', '8x8192x4x64'])
    parser.add_argument('--tuners', type=int, default=min(12, os.cpu_count() or 1), help='processes that compile first; 0 leaves it to one')
    parser.add_argument('--limit', type=float, default=240, help='seconds that these may take')
    parser.add_argument('--share', type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    shapes = [tuple(int(size) for size in shape.split('x')) for shape in asked.shapes]
    if asked.share is not None:
        compile_share(shapes, asked.share, asked.tuners)
        return
    if asked.tuners > 1:
        compile_in_parallel(['--shapes', *asked.shapes], asked.tuners, asked.limit)
    for shape in shapes:
        measure(shape)


if __name__ == '__main__':
    main()
