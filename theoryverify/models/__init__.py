"""The papers' models in Torch, one file a model, each line an equation with its number.

Importing this package imports no Torch; its modules do.
"""
