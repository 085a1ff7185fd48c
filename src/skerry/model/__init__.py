"""The words every other room uses: types, batches, time, windows."""
