"""From a session that shows a failure to the shortest one that still shows it.

The method is delta debugging: A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
Transactions on Software Engineering 28(2), 2002; coarse parts before fine ones as in G. Misherghi and Z. Su, "HDD:
Hierarchical Delta Debugging", ICSE 2006. What is chosen depends on answers alone, never on which came first.
"""
