"""The reference tables of the documentation, made from the declarations."""
