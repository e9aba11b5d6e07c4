CREATE OR REPLACE TEMP MACRO period_of(timestamp) AS
    CASE getvariable('digits')
        WHEN 4 THEN left(timestamp, 4)
        WHEN 7 THEN left(timestamp, 4) || '-' || timestamp[5:6]
        WHEN 10 THEN left(timestamp, 4) || '-' || timestamp[5:6] || '-' || timestamp[7:8]
    END;
