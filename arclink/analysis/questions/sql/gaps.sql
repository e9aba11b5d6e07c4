SELECT number, period, name, hosts, pages, first, last
FROM to_capture(is_stale := false)
ORDER BY number, period, hosts DESC, pages DESC, name
