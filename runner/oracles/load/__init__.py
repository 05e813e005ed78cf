"""From what a load run left behind to its verdict: events, metrics, assertions, stages. Pure."""
