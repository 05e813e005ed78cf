"""What controller and load driver say to each other. Standard library only: the image ``k6`` carries this room."""
