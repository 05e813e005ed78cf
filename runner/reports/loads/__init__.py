"""Two load runs beside each other: did it get worse, or slower?"""
