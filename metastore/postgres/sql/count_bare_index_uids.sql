SELECT count(*)
FROM indexes
WHERE position(':' IN index_uid) = 0
