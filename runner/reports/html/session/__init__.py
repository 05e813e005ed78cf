"""What a page has more when it tells of a browser session: failures, timeline, video, faults, lanes, requests."""
