"""How what was published is read: the true counts behind it, by the first engine that can."""
