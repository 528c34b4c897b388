"""`aspects`: what reviews praise and what they blame: acting, story, direction, music, ..."""
