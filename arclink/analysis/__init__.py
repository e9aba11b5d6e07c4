"""The graph in other forms: relations, questions, matrices, pictures, files for other tools."""
