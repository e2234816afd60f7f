"""Pictures of how an array lies on devices: a table of lines, a cell for each part."""

import math as _math

from pullback._core import user_error as _user_error


def _owners(shape, sharding):
    """The devices of each part, by the part's first row and column."""
    owners = {}
    for device, index in sharding.devices_indices_map(shape).items():
        start = tuple(part.start or 0 for part in index)
        owners.setdefault((0,) * (2 - len(start)) + start, []).append(device)
    return owners


def _text(devices):
    platform = devices[0].platform.upper()
    return f"{platform} {','.join(str(device.id) for device in sorted(devices, key=lambda device: device.id))}"


def picture(shape, sharding, scale=1.0, min_width=9, max_width=80):
    """The lines of a picture of an array of one or two axes."""
    if len(shape) not in (1, 2):
        raise _user_error(ValueError, "`visualize_sharding` only works for shapes with 1 and 2 dimensions.")
    owners = _owners(shape, sharding)
    rows, columns = (sorted({place[axis] for place in owners}) for axis in (0, 1))
    texts = {place: _text(devices) for place, devices in owners.items()}
    longest = max(map(len, texts.values())) + 2
    width = max(longest, _math.ceil(min_width * scale / len(columns)) - 2)
    width = max(longest, min(width, max_width // len(columns) - 2))
    height = max(1, round(scale))
    rule = lambda left, middle, right: left + middle.join(["─" * width] * len(columns)) + right
    lines = [rule("┌", "┬", "┐")]
    for number, row in enumerate(rows):
        cells = "│" + "│".join(texts[row, column].center(width) for column in columns) + "│"
        blank = "│" + "│".join([" " * width] * len(columns)) + "│"
        above = (height - 1) // 2
        lines += [blank] * above + [cells] + [blank] * (height - 1 - above)
        lines.append(rule("├", "┼", "┤") if number + 1 < len(rows) else rule("└", "┴", "┘"))
    return "\n".join(lines)
