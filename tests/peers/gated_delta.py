"""GDN-2's scan as a Python stack has it: in PyTorch's own operations, token by token and in chunks, and by FLA's Triton kernels.

Every scan takes q, k, v, log-decay g, erase gate b and write gate w, each [B, T, H, K or V], and returns the reads, [B, T, H, V]:

    S <- Diag(exp g) S        S <- S + k (w * v - S^T (b * k))^T        o = S^T q
"""

import torch


def recurrent(q, k, v, g, b, w):
    """Token by token, from the equation: slow, and what the others are checked against."""
    state = q.new_zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3])
    reads = []
    for t in range(q.shape[1]):
        state = state * g[:, t].exp()[..., None]
        missing = w[:, t] * v[:, t] - torch.einsum('bhkv,bhk->bhv', state, b[:, t] * k[:, t])
        state = state + k[:, t][..., None] * missing[..., None, :]
        reads.append(torch.einsum('bhkv,bhk->bhv', state, q[:, t]))
    return torch.stack(reads, 1)


def chunked(q, k, v, g, b, w, chunk=16):
    """A triangular system per chunk. Exponents are differences inside a chunk and never positive."""
    batch, length, heads, _ = q.shape
    size = v.shape[-1]

    def split(x):
        return x.reshape(batch, length // chunk, chunk, heads, -1).permute(0, 3, 1, 2, 4)  # [B, H, N, C, K or V]

    q, k, g, a, u = map(split, (q, k, g, b * k, w * v))
    total = g.cumsum(-2)
    low = torch.ones(chunk, chunk, device=q.device, dtype=torch.bool).tril()
    decay = (total.unsqueeze(-2) - total.unsqueeze(-3)).masked_fill(~low[..., None], 0).exp()
    erased = torch.einsum('...ik,...jk,...ijk->...ij', a, k, decay).masked_fill(~low.tril(-1), 0)
    read = torch.einsum('...ik,...jk,...ijk->...ij', q, k, decay).masked_fill(~low, 0)
    system = erased + torch.eye(chunk, device=q.device)
    solved = torch.linalg.solve_triangular(system, torch.cat([u, a * total.exp()], -1), upper=False, unitriangular=True)
    written, against = solved[..., :size], solved[..., size:]
    kept, query = k * (total[..., -1:, :] - total).exp(), q * total.exp()
    whole = total[..., -1, :].exp()
    state, reads = q.new_zeros(batch, heads, q.shape[-1], size), []
    for n in range(length // chunk):
        missing = written[:, :, n] - against[:, :, n] @ state
        reads.append(query[:, :, n] @ state + read[:, :, n] @ missing)
        state = state * whole[:, :, n, :, None] + kept[:, :, n].transpose(-1, -2) @ missing
    return torch.stack(reads, 2).permute(0, 2, 3, 1, 4).reshape(batch, length, heads, size)


def fla_chunked(q, k, v, g, b, w):
    """FLA's chunked kernel, in bfloat16 as its own training runs."""
    from fla.ops.gdn2 import chunk_gdn2

    return chunk_gdn2(*(x.bfloat16() for x in (q, k, v, g, b, w)), scale=1.0)[0].to(q.dtype)
