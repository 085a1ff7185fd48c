"""The runtime in this process: queues, a scheduler, and operators between them."""
