"""The narrow helper with administrator rights and its client."""
