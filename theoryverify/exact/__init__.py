"""Numbers without rounding: balls, exact rationals, laws, identities. Imports nothing above it."""
