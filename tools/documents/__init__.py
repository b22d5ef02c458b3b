"""What is made of the sources for people: pages of the site, pages of the manual, completion for shells."""
