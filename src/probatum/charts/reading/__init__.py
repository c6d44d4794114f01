"""From an image to boxes, ticks, labels and calibrated axes."""
