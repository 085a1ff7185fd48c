"""What a benchmark prints, and keeps for --json."""


class Report:
    """Prints times as they come, and keeps them."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def tell(self, name: str, value: float, unit: str = "s") -> None:
        """One line."""
        self.found[f"{name}, {unit}"] = value
        print(f"  {name}: {value:.4g} {unit}", flush=True)
