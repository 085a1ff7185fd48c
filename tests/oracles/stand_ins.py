"""Stand-ins, reading by reading."""


def find_stand_ins(heard, stand_ins, limits):
    """``(sensor, moment, taken by)`` of all (sensor, moment) pairs, and of those that stand in for silent sensors."""
    start = min(moment for _, moment in heard)
    found = [(sensor, moment, sensor) for sensor, moment in heard]

    def is_silent(name, at):
        moments = [moment for sensor, moment in heard if sensor == name and moment <= at]
        return at - max(moments, default=start) > limits[name]

    for taker, moment in heard:
        for sensor, others in stand_ins.items():
            if taker in others and is_silent(sensor, moment):
                better = others[: others.index(taker)]
                if all(is_silent(each, moment) for each in better):
                    found.append((sensor, moment, taker))
    return found
