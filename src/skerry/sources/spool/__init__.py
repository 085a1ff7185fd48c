"""The spool: what live sources have received, on disk before it is acknowledged, until a batch that is done has it."""
