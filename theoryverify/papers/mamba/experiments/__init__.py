"""What the figures show, computed: one module a figure, tidy tables out.

``cells_NAME`` has the functions whose results the store keeps, ``sizes_NAME`` the presets.
"""
