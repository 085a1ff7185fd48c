CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='file', path='examples/road.csv');

CREATE MATERIALIZED VIEW my_road WITH (late_to='too_late') AS
SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) AS readings
FROM TUMBLE(road, ts, INTERVAL '30' SECOND)
WHERE segment IN (3, 4, 5) GROUP BY segment, window_start;

CREATE MATERIALIZED VIEW crawling AS SELECT sensor, ts, speed FROM road WHERE speed < 30;
