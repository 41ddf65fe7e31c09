"""The true counts behind what was published: their laws, exact or sampled, whatever mechanism drew them."""
