"""Linear recurrences in plain PyTorch, in the forms that are used in practice.

`*_loop`: one step of time after the other. `*_chunked`: products of matrices within chunks of time, a state handed from
chunk to chunk. check.py holds each to its loop.
"""

import torch


def linear_scan_loop(q, k, v, decay=None, bonus=None):
    """S_t = diag(exp(decay_t)) S_{t-1} + k_t v_tᵀ, read by q: (batch, heads, length, size) each, decay like k, or None.

    With a bonus (heads, size), RWKV's, the output is q_tᵀ (S_{t-1} + diag(bonus) k_t v_tᵀ).
    """
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    for t in range(q.shape[2]):
        now = k[:, :, t, :, None] * v[:, :, t, None]
        before = state
        state = now + (state if decay is None else decay[:, :, t, :, None].exp() * state)
        seen = state if bonus is None else before + bonus[:, :, None] * now
        outputs.append((q[:, :, t, :, None] * seen).sum(dim=2))
    return torch.stack(outputs, dim=2)


def linear_scan_chunked(q, k, v, decay=None, bonus=None, chunk=32):
    """As linear_scan_loop. Within a chunk decays are relative to its start, so that decay * chunk must stay above -80."""
    batch, heads, length, size = q.shape
    chunk = min(chunk, length)
    q, k, v = (x.unflatten(2, (-1, chunk)) for x in (q, k, v))
    reading, written, kept = q, k, k
    if decay is not None:
        decay = decay.float().expand(batch, heads, length, size).unflatten(2, (-1, chunk))
        along = decay.cumsum(dim=3)
        total = along[:, :, :, -1:]
        reading = q * (along if bonus is None else along - decay).exp()
        written, kept = k * (-along).exp(), k * (total - along).exp()
    scores = (reading @ written.mT).tril(0 if bonus is None else -1)
    y = scores @ v
    if length > chunk:
        added = kept.mT @ v  # what each chunk adds to the state
        if decay is None:
            states = added.cumsum(dim=2) - added
        else:
            state, states, keep = torch.zeros_like(added[:, :, 0]), [], total.exp().mT
            for n in range(added.shape[2]):
                states.append(state)
                state = keep[:, :, n] * state + added[:, :, n]
            states = torch.stack(states, dim=2)
        y = y + reading @ states.to(reading.dtype)
    if bonus is not None:
        y = y + (q * bonus[:, None, None] * k).sum(dim=-1, keepdim=True) * v
    return y.flatten(2, 3)


def selective_scan_loop(x, step, a, b, c):
    """Mamba's scan: h_t = exp(step_t a) h_{t-1} + step_t x_t b_t, y_t = h_t c_t.

    x and step are (batch, length, channels), a (channels, states), b and c (batch, length, states).
    """
    state = x.new_zeros(x.shape[0], *a.shape)
    outputs = []
    for t in range(x.shape[1]):
        now = step[:, t, :, None]
        state = (now * a).exp() * state + (now * x[:, t, :, None]) * b[:, t, None]
        outputs.append((state * c[:, t, None]).sum(dim=-1))
    return torch.stack(outputs, dim=1)


def selective_scan_chunked(x, step, a, b, c, chunk=8):
    """As selective_scan_loop, stable for any step: a loop over the times within a chunk, for all chunks at once, then one
    over the chunks, whose states reach into them through the product of the decays."""
    batch, length, channels = x.shape
    chunk = min(chunk, length)
    x, step, b, c = (z.unflatten(1, (-1, chunk)) for z in (x, step, b, c))
    along = step.cumsum(dim=2)
    added = (step * x)[..., None] * b[:, :, :, None]
    decay = (step[..., None] * a).exp()
    state, states = added[:, :, 0], [added[:, :, 0]]
    for t in range(1, chunk):
        state = decay[:, :, t] * state + added[:, :, t]
        states.append(state)
    whole = (along[:, :, -1, :, None] * a).exp()
    carried, before = torch.zeros_like(state[:, 0]), []
    for n in range(x.shape[1]):
        before.append(carried)
        carried = whole[:, n] * carried + state[:, n]
    reached = (along[..., None] * a).exp() * torch.stack(before, dim=1)[:, :, None]
    y = ((torch.stack(states, dim=2) + reached) * c[:, :, :, None]).sum(dim=-1)
    return y.flatten(1, 2)


def selective_scan_doubling(x, step, a, b, c):
    """As selective_scan_loop, in log2(length) passes over everything (Hillis and Steele's scan)."""
    decay = (step[..., None] * a).exp()
    state = (step * x)[..., None] * b[:, :, None]
    back = 1
    while back < x.shape[1]:
        state = torch.cat((state[:, :back], state[:, back:] + decay[:, back:] * state[:, :-back]), dim=1)
        decay = torch.cat((decay[:, :back], decay[:, back:] * decay[:, :-back]), dim=1)
        back *= 2
    return (state * c[:, :, None]).sum(dim=-1)


def averages_loop(k, v, rate, bonus):
    """RWKV-4's averages: of the values so far, weighed by exp(k) that decays by exp(-rate) a step; the token itself
    counts exp(bonus + k). (batch, length, channels) each, rate and bonus (channels). Scaled by the largest exponent."""
    top = torch.full_like(k[:, 0], -1e38)
    above, below = torch.zeros_like(top), torch.zeros_like(top)
    outputs = []
    for t in range(k.shape[1]):
        key, value = k[:, t], v[:, t]
        high = torch.maximum(top, bonus + key)
        past, now = (top - high).exp(), (bonus + key - high).exp()
        outputs.append((past * above + now * value) / (past * below + now))
        high = torch.maximum(top - rate, key)
        past, now = (top - rate - high).exp(), (key - high).exp()
        above, below, top = past * above + now * value, past * below + now, high
    return torch.stack(outputs, dim=1)


def averages_matrix(k, v, rate, bonus):
    """As averages_loop, one product of matrices a channel; exp(k) is bounded as in the published code's early form."""
    time = torch.arange(k.shape[1], device=k.device)
    back = time[:, None] - time
    weights = torch.where(back > 0, -rate[:, None, None] * (back - 1), -torch.inf)
    weights = torch.where(back == 0, bonus[:, None, None], weights).exp()  # (channels, length, length)
    written = k.clamp(max=60).exp()
    both = torch.stack((written * v, written)).permute(3, 2, 0, 1).flatten(2)  # (channels, length, 2 * batch)
    above, below = (weights @ both).unflatten(2, (2, -1)).permute(2, 3, 1, 0)
    return above / (below + 1e-30)
