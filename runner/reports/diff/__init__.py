"""What differs between two runs, or two reports. Pure, and bounded in what it reads of hostile output."""
