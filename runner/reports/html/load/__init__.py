"""What a page has more when it tells of a load run: assertions, plots over time, operations, journeys, budgets."""
