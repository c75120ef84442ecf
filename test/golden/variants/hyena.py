"""Hyena's filter without a window or normalised, an activation, no skip, rational filters, other depths."""

import formulas as f


def features(cases, length, size):
    return cases.array(length, size, low=-1, high=1)


def draw_filter(cases, size, width, inner, channels):
    w = {"freq": cases.draw(width, 0.5, 2)}
    for i in range(inner + 1):
        w[f"W{i}"], w[f"b{i}"] = cases.array(width, size if i == 0 else width), cases.draw(width)
    w[f"W{inner + 1}"] = cases.array(channels, width)
    return w


def tensors_of(w, z, deltas):
    named = [("param", f"filter.{name}", [value] if name == "freq" else value) for name, value in w.items()]
    return named + [("param", "filter.z", [z]), ("buffer", "filter.t", [[[0.0]] * len(z)]), ("buffer", "filter.deltas", [[deltas]])]


def safari(cases, name, order, inner, layout, **options):
    B, L, D, l_max, width, size = 2, 9, 4, 11, 5, 5
    channels = D * (order - 1)
    x = cases.array(B, L, D)
    w = {"W_in": cases.array((order + 1) * D, D), "b_in": cases.draw((order + 1) * D), "W_short": cases.array((order + 1) * D, 3),
         "b_short": cases.draw((order + 1) * D), "W_out": cases.array(D, D), "b_out": cases.draw(D)}
    skip, z = cases.draw(channels), features(cases, l_max, size)
    network, deltas = draw_filter(cases, size, width, inner, channels), cases.draw(channels, 1, 5)
    modulate, normalised = options.get("modulate", True), options.get("normalized_l1", False)
    h = f.sine_filter(L, network, inner, modulate, deltas, options.get("shift", 0.0), z, f.l1_norm if normalised else None)
    major = layout == "channel-major"
    at = lambda c, o: c * (order - 1) + o if major else o * D + c
    filters = [[[row[at(c, o)] for row in h] for c in range(D)] for o in range(order - 1)]
    skips = [[skip[at(c, o)] for c in range(D)] for o in range(order - 1)]
    activation = {"gelu": f.gelu, "id": None, "silu": f.silu}[options.get("activation", "id")]
    y = [f.hyena(rows, {**w, "skip": skips}, filters, order, 1, activation) for rows in x]
    config = dict(B=B, L=L, D=D, l_max=l_max, order=order, filter_width=width, emb_dim=size, sine_w=1, inner_layers=inner, short_taps=3,
                  shift=options.get("shift", 0.0), modulate=modulate, normalized_l1=normalised, filter_channel_layout=layout,
                  activation=options.get("activation", "id"))
    cases.add(name, "hyena", config, [("input", "x", x)] + [("param", key, value) for key, value in w.items()] + [("param", "filter.D", skip)] +
              tensors_of(network, z, deltas) + [("output", "y", y), ("output", "filter.h", [h])])


def mad_lab(cases, name, factor, groups, rational, bias, **options):
    B, L, D, l_max, width, size = 2, 7, 4, 9, 3, 3
    wide, inner = factor * D, options.get("depth_implicit", 2)
    x = cases.array(B, L, D)
    w = {"W_in": cases.array(3 * wide // groups, D), "b_in": cases.draw(3 * wide // groups), "W_short": cases.array(3 * wide, 4),
         "b_short": cases.draw(3 * wide), "W_out": cases.array(D, wide), "b_out": cases.draw(D)}
    skip = cases.draw(wide)
    if rational:
        order, n = 2, 10
        ab, h0 = cases.array(2 * wide, order, low=-0.3, high=0.3), cases.draw(wide)
        h = f.columns([f.aliased_rational(L, n, ab[c], ab[wide + c], h0[c]) for c in range(wide)])
        cfg, extra = {"state_size": order}, [("param", "filter.ab", ab), ("param", "filter.h_0", h0)]
    else:
        z, network, deltas = features(cases, l_max, size), draw_filter(cases, size, width, inner, wide), cases.draw(wide, 1, 5)
        norm = f.layernorm if options.get("normalized") else None
        weight, shift = cases.draw(wide), cases.draw(wide)
        h = f.sine_filter(L, network, inner, True, deltas, 0.0, z, (lambda rows: norm(rows, weight, shift)) if norm else None)
        cfg, extra = {"order": width, **options}, tensors_of(network, z, deltas)
        if norm:
            extra += [("param", "filter.norm_w", weight), ("param", "filter.norm_b", shift)]
    y = [f.hyena(rows, {**w, "skip": [skip] if bias else None}, [f.columns(h)], 2, groups) for rows in x]
    config = dict(B=B, L=L, l_max=l_max, dim=D, order=2, inner_factor=factor, proj_groups=groups, short_filter_order=4,
                  long_conv_cfg={"bias": bias, "filter_cls": "rtf" if rational else "implicit", "filter_cfg": cfg})
    cases.add(name, "hyena", config, [("input", "x", x)] + [("param", key, value) for key, value in w.items()] +
              ([("param", "filter.D", skip)] if bias else []) + extra +
              [("output", "y", y), ("output", "filter.h", [f.columns(h)])])


def write(cases):
    safari(cases, "hyena_order4_channel_major_l1", 4, 1, "channel-major", normalized_l1=True)
    safari(cases, "hyena_order2_no_window_gelu", 2, 3, "order-major", modulate=False, activation="gelu")
    safari(cases, "hyena_order3_shift", 3, 2, "order-major", shift=0.1)
    mad_lab(cases, "hyena_madlab_rational", 2, 3, True, True)
    mad_lab(cases, "hyena_madlab_no_skip_deep", 1, 1, False, False, depth_implicit=3)
    mad_lab(cases, "hyena_madlab_normalised", 2, 2, False, True, normalized=True)
