"""One folder a paper. A paper touches nothing outside its folder and its entry point."""
