"""How what was read is shown: tables, pictures, pages and files, each written once for all models."""
