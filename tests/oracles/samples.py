"""Samples expected and received, window by window and sensor by sensor."""


def count_samples(readings, window, periods, forget_us, end_us, *, silent_rows):
    """``{(key, start): (expected, received, share)}`` of (key, sensor, moment) triples; a sensor may be None.

    ``periods`` gives the sample period of a sensor, or None. Windows start at or before ``end_us``.
    """
    found = {}
    for start in _list_starts(readings, window, forget_us, end_us):
        inside = range(start, start + window.size_us)
        for key in {key for key, _, _ in readings}:
            mine = [(sensor, moment) for of, sensor, moment in readings if of == key]
            known = {
                sensor for sensor, moment in mine if sensor is not None and start - forget_us <= moment < inside.stop
            }
            if any(moment in inside for _, moment in mine) or (silent_rows and known):
                samples = {row for row in mine if row[0] is not None and row[1] in inside}
                found[key, start] = _compare(known, samples, window.size_us, periods)
    return found


def _list_starts(readings, window, forget_us, end_us):
    """Every start of a window that could matter."""
    moments = [moment for _, _, moment in readings]
    if not moments:
        return range(0)
    first = (min(moments) - window.size_us) // window.slide_us * window.slide_us
    last = min(max(moments) + forget_us, max(end_us, max(moments)))
    return range(first, last + 1, window.slide_us)


def _compare(known, samples, size_us, periods):
    """What known sensors owe, what came, and the share of what is owed that came."""
    received = {sensor: len([row for row in samples if row[0] == sensor]) for sensor in known}
    if any(periods(sensor) is None for sensor in known):
        return None, len(samples), None
    due = {sensor: size_us // periods(sensor) for sensor in known}
    expected = sum(due.values())
    covered = sum(min(due[sensor], received[sensor]) for sensor in known)
    return expected, len(samples), covered / expected if expected else None
