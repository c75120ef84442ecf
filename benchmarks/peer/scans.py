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
    keeps = [None] * q.shape[2] if decay is None else decay.exp()[..., None].unbind(2)
    outputs = []
    for reader, key, value, keep in zip(q[..., None].unbind(2), k[..., None].unbind(2), v[..., None, :].unbind(2), keeps):
        now = key * value
        before = state
        state = now + (state if keep is None else keep * state)
        seen = state if bonus is None else before + bonus[:, :, None] * now
        outputs.append((reader * seen).sum(dim=2))
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
            state, states = torch.zeros_like(added[:, :, 0]), []
            for keep, more in zip(total.exp().mT.unbind(2), added.unbind(2)):
                states.append(state)
                state = torch.addcmul(more, keep, state)
            states = torch.stack(states, dim=2)
        y = y + reading @ states.to(reading.dtype)
    if bonus is not None:
        y = y + (q * bonus[:, None, None] * k).sum(dim=-1, keepdim=True) * v
    return y.flatten(2, 3)


def linear_scan_by_head(q, k, v, decay, chunk=32):
    """As linear_scan_loop with a decay (batch, heads, length) of a head, which is taken between pairs of positions: stable for any. q and k
    may be shared by the heads, with a size of 1 there."""
    length = v.shape[2]
    chunk = min(chunk, length)
    q, k, v = (x.unflatten(2, (-1, chunk)) for x in (q, k, v))
    along = decay.unflatten(2, (-1, chunk)).cumsum(dim=3)[..., None]
    total = along[:, :, :, -1:]
    mask = torch.ones(chunk, chunk, dtype=torch.bool, device=q.device).tril()
    y = (q @ k.mT) * (along - along.mT).masked_fill(~mask, -torch.inf).exp() @ v
    if length > chunk:
        added = k.mT @ ((total - along).exp() * v)
        state, states = torch.zeros_like(added[:, :, 0]), []
        for keep, more in zip(total.exp().unbind(2), added.unbind(2)):
            states.append(state)
            state = torch.addcmul(more, keep, state)
        y = y + along.exp() * (q @ torch.stack(states, dim=2))
    return y.flatten(2, 3)


def delta_rule_loop(q, k, v, erase, decay, write=None):
    """S_t = diag(exp(decay_t)) S_{t-1} + write_t (erase_tᵀ S_{t-1}) + k_t v_tᵀ, read by q: (batch, heads, length, size) each, decay like k or
    with a size of 1. Without `write` it is -k."""
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    steps = (x[..., None].unbind(2) for x in (q, k, -k if write is None else write, erase, decay.exp().expand_as(k)))
    for reader, key, changed, eraser, keep, value in zip(*steps, v[..., None, :].unbind(2)):
        state = keep * state + changed * (eraser * state).sum(dim=2, keepdim=True) + key * value
        outputs.append((reader * state).sum(dim=2))
    return torch.stack(outputs, dim=2)


def delta_rule_chunked(q, k, v, erase, decay, write=None, chunk=32):
    """As delta_rule_loop, by products and a triangular solve in each chunk, of all chunks at once where they do not need the state. A decay a
    head is taken between pairs of rows; one a key relative to the chunk's middle, so that decay * chunk must stay above -160. On a CPU chunks of 32 are fastest."""
    length, size = q.shape[2:]
    chunk = min(chunk, length)
    q, k, v, erase, decay = (x.unflatten(2, (-1, chunk)) for x in (q, k, v, erase, decay))
    along = decay.cumsum(dim=3)
    before, total = along - decay, along[:, :, :, -1:]
    rows = [-k if write is None else write.unflatten(2, (-1, chunk))] + ([] if write is None else [k])
    ends = [x * (total - along).exp() for x in rows]
    if decay.shape[-1] == 1:
        mask = torch.ones(chunk, chunk, dtype=torch.bool, device=q.device)
        reach = lambda row, own: (row - along.mT).masked_fill(~mask.tril(own), -torch.inf).exp()
        pairs = [((q @ x.mT) * reach(along, 0), (erase @ x.mT) * reach(before, -1)) for x in rows]
    else:
        middle = along[:, :, :, chunk // 2 : chunk // 2 + 1].detach()
        reader, eraser = q * (along - middle).exp(), erase * (before - middle).exp()
        written = [x * (middle - along).exp() for x in rows]
        pairs = [((reader @ x.mT).tril(), (eraser @ x.mT).tril(-1)) for x in written]
    reader, eraser = q * along.exp(), erase * before.exp()
    # (I - N) W = R S + G: what a chunk's rows read of the state is W = W0 + W1 S.
    given = -v if write is None else pairs[1][1] @ v
    system = torch.eye(chunk, device=q.device) - pairs[0][1]
    both = torch.linalg.solve_triangular(system, torch.cat((given, eraser), dim=-1), upper=False, unitriangular=True)
    given, reading = both.split((v.shape[-1], size), dim=-1)
    added = ends[0].mT @ given + (0 if write is None else ends[1].mT @ v)
    changes = ends[0].mT @ reading
    state, states = torch.zeros_like(added[:, :, 0]), []
    for keep, change, more in zip(total.exp().mT.unbind(2), changes.unbind(2), added.unbind(2)):
        states.append(state)
        state = torch.addcmul(more, keep, state) + change @ state
    states = torch.stack(states, dim=2)
    corrected = given + reading @ states
    y = reader @ states + pairs[0][0] @ corrected
    return (y if write is None else y + pairs[1][0] @ v).flatten(2, 3)


@torch.compiler.disable  # unrolled, it takes minutes to compile, and is no faster than this
def selective_scan_loop(x, step, a, b, c):
    """Mamba's scan: h_t = exp(step_t a) h_{t-1} + step_t x_t b_t, y_t = h_t c_t.

    x and step are (batch, length, channels), a (channels, states), b and c (batch, length, states). Channels are the
    innermost dimension of what is computed, as they are many and the states few.
    """
    a, b, c = a.T, b[..., None], c[..., None]
    state = x.new_zeros(x.shape[0], *a.shape)
    outputs = []
    for now, value, write, read in zip(step[:, :, None].unbind(1), (step * x)[:, :, None].unbind(1), b.unbind(1), c.unbind(1)):
        state = torch.addcmul(value * write, (now * a).exp(), state)
        outputs.append((state * read).sum(dim=1))
    return torch.stack(outputs, dim=1)


def selective_scan(x, step, a, b, c):
    """The fastest of the forms here. On CPUs with enough sequences in a batch the loop, whose state stays in a cache; on GPUs
    never the loop, which is thousands of launches."""
    batch = x.shape[0]
    if x.is_cuda:
        return selective_scan_chunked(x, step, a, b, c, block=x.shape[1])
    return selective_scan_loop(x, step, a, b, c) if batch >= 8 else selective_scan_chunked(x, step, a, b, c, block=256 // batch)


def selective_scan_chunked(x, step, a, b, c, chunk=16, block=512):
    """As selective_scan_loop, stable for any step: a loop over the times within a chunk, for all chunks of a block at
    once, then one over the chunks, whose states reach into them through the product of the decays. Blocks of time follow
    one another, so that what is computed fits in a cache."""
    state, outputs = x.new_zeros(x.shape[0], *a.T.shape), []
    for part in zip(*(z.split(block, dim=1) for z in (x, step, b, c))):
        y, state = _selective_scan_block(*part, a.T, state, min(chunk, part[0].shape[1]))
        outputs.append(y)
    return torch.cat(outputs, dim=1)


def _selective_scan_block(x, step, b, c, a, carried, chunk):
    x, step, b, c = (z.unflatten(1, (-1, chunk)) for z in (x, step, b, c))
    along = step.cumsum(dim=2)
    added = ((step * x)[..., None, :] * b[..., None]).unbind(2)
    decay = (step[..., None, :] * a).exp().unbind(2)
    state, states = added[0], [added[0]]
    for keep, more in zip(decay[1:], added[1:]):
        state = torch.addcmul(more, keep, state)
        states.append(state)
    reach = (along[..., None, :] * a).exp()
    before = []
    for keep, more in zip(reach[:, :, -1].unbind(1), state.unbind(1)):
        before.append(carried)
        carried = torch.addcmul(more, keep, carried)
    states = torch.addcmul(torch.stack(states, dim=2), reach, torch.stack(before, dim=1)[:, :, None])
    return (states * c[..., None]).sum(dim=-2).flatten(1, 2), carried


def selective_scan_doubling(x, step, a, b, c):
    """As selective_scan_loop, in log2(length) passes over everything (Hillis and Steele's scan)."""
    decay = (step[:, :, None] * a.T).exp()
    state = (step * x)[:, :, None] * b[..., None]
    back = 1
    while back < x.shape[1]:
        state = torch.cat((state[:, :back], torch.addcmul(state[:, back:], decay[:, back:], state[:, :-back])), dim=1)
        decay = torch.cat((decay[:, :back], decay[:, back:] * decay[:, :-back]), dim=1)
        back *= 2
    return (state * c[..., None]).sum(dim=2)


def averages_loop(k, v, rate, bonus):
    """RWKV-4's averages: of the values so far, weighed by exp(k) that decays by exp(-rate) a step; the token itself
    counts exp(bonus + k). (batch, length, channels) each, rate and bonus (channels). Scaled by the largest exponent."""
    top = torch.full_like(k[:, 0], -1e38)
    above, below = torch.zeros_like(top), torch.zeros_like(top)
    outputs = []
    for key, value in zip(k.unbind(1), v.unbind(1)):
        high = torch.maximum(top, bonus + key)
        past, now = (top - high).exp(), (bonus + key - high).exp()
        outputs.append((past * above + now * value) / (past * below + now))
        high = torch.maximum(top - rate, key)
        past, now = (top - rate - high).exp(), (key - high).exp()
        above, below, top = past * above + now * value, past * below + now, high
    return torch.stack(outputs, dim=1)


def averages_chunked(k, v, rate, bonus, chunk=16):
    """As averages_loop, within chunks by one product of matrices a channel, sums handed from chunk to chunk.

    Exponents are relative to the largest key up to the end of the chunk, so that none can overflow.
    """
    batch, length, channels = k.shape
    chunk = min(chunk, length)
    k, v = (x.unflatten(1, (-1, chunk)) for x in (k, v))
    top = k.detach().amax(dim=2).cummax(dim=1).values  # (batch, chunks, channels)
    written = (k - top[:, :, None]).exp()
    both = torch.stack((written * v, written), dim=-1)  # (batch, chunks, chunk, channels, 2)
    time = torch.arange(chunk, device=k.device)
    back = (time[:, None] - time)[..., None]
    weights = torch.where(back > 0, -rate * (back - 1), -torch.inf)
    weights = torch.where(back == 0, bonus, weights).exp()  # (chunk, chunk, channels)
    sums = weights.permute(2, 0, 1) @ both.permute(3, 2, 0, 1, 4).flatten(2)
    sums = sums.unflatten(2, (batch, -1, 2)).permute(2, 3, 1, 0, 4)
    ending = (-rate * (chunk - 1 - time)[:, None]).exp()  # of each time to the end of its chunk
    added = (ending[..., None] * both).sum(dim=2)
    keep = ((-rate * chunk).exp() * torch.cat((torch.zeros_like(top[:, :1]), (top[:, :-1] - top[:, 1:]).exp()), dim=1))[..., None]
    state, before = torch.zeros_like(added[:, 0]), []
    for share, more in zip(keep.unbind(1), added.unbind(1)):
        before.append(state)
        state = torch.addcmul(more, share, state)
    # The state at a chunk's start is relative to the top before it.
    start = torch.cat((torch.zeros_like(top[:, :1]), (top[:, :-1] - top[:, 1:]).exp()), dim=1)[:, :, None]
    reach = (-rate * time[:, None]).exp() * start
    sums = torch.addcmul(sums, reach[..., None], torch.stack(before, dim=1)[:, :, None])
    return (sums[..., 0] / sums[..., 1]).flatten(1, 2)
