"""`aspects`: the aspects that reviews praise or blame, such as acting, story, direction and music."""
