CREATE TABLE t (id integer);
SELECT 'it is not ended;
