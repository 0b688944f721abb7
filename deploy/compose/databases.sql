-- Each service that keeps something in PostgreSQL has a database of its own; that of accounts is made by the image.
create database history;
create database ratings;
