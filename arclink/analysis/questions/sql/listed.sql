CREATE OR REPLACE TEMP MACRO period_of(timestamp) AS unnest(windows_at(timestamp));
