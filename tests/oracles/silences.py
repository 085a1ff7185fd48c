"""Silences, sensor by sensor and reading by reading."""


def find_silences(heard, gap_us, forget_us, end_us):
    """``(sensor, last, silent at, None)`` and ``(sensor, last, until, until)`` of (sensor, moment) pairs."""
    found = []
    for sensor in {sensor for sensor, _ in heard}:
        moments = sorted({moment for of, moment in heard if of == sensor})
        for moment, following in zip(moments, [*moments[1:], None], strict=True):
            if following is None or following - moment > gap_us:
                if moment + gap_us <= end_us:
                    found.append((sensor, moment, moment + gap_us, None))
                if following is not None and following - moment <= forget_us:
                    found.append((sensor, moment, following, following))
    return found
