SELECT number, period, name, hosts, pages, first, last, captured
FROM to_capture(is_stale := true)
ORDER BY number, period, hosts DESC, pages DESC, name
