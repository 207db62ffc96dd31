-- PostgreSQL's file of this name has functions for what statements ask of its vectors. On D1 they are compared outside the database.
SELECT 1;
