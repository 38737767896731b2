"""What models were paid for: tokens and cost by day, session, model and more.

Owns counting, grouping and prices; where the figures come from, readers and the store do.
"""
