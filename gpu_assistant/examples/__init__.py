"""First programs: small scripts that train in an environment's own Python, shown live beside their code."""
