-- Thirty-two loops on I-80, played sixty times as fast as the road.
CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, lane INT, speed DOUBLE, flow INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='sim', kind='traffic', sensors='32', seed='1', speedup='60', start_time='2000-06-05 06:30:00', disorder='3s', incidents='6');

-- Query 1 of the Fjords paper: the average speed over a window, for the segments I drive.
CREATE MATERIALIZED VIEW my_road AS
SELECT segment, window_start, AVG(speed) AS speed, COUNT(speed) AS vehicles
FROM TUMBLE(traffic, ts, INTERVAL '30' SECOND)
WHERE segment IN (3, 4, 5) GROUP BY segment, window_start;

-- Query 2: slow segments with an incident in the last hour, as the highway patrol reports them.
CREATE TABLE incidents (ts TIMESTAMP, segment INT, description VARCHAR) WITH (connector='file', path='incidents.csv');
CREATE MATERIALIZED VIEW slow_near_incidents AS
SELECT i.description, s.segment, s.window_start, AVG(s.speed) AS speed
FROM SLIDING(incidents, ts, INTERVAL '1' HOUR) AS i JOIN TUMBLE(traffic, ts, INTERVAL '30' SECOND) AS s ON i.segment = s.segment
GROUP BY i.description, s.segment, s.window_start HAVING AVG(s.speed) < 45;

-- Where it is slow right now, lane by lane.
CREATE MATERIALIZED VIEW crawling AS
SELECT sensor, segment, lane, ts, speed FROM traffic WHERE speed < 25;

-- Vehicles a minute on the whole road, every ten seconds.
CREATE MATERIALIZED VIEW flow AS
SELECT window_end, SUM(flow) AS vehicles, COUNT(DISTINCT sensor) AS sensors
FROM HOP(traffic, ts, INTERVAL '10' SECOND, INTERVAL '1' MINUTE) GROUP BY window_end;

-- A join across whichever sensors agree: stations of a segment that crawl within half a minute of each other.
CREATE MATERIALIZED VIEW crawling_together AS
SELECT key AS segment, ts, arity
FROM GATHER(crawling, key => segment, across => sensor, within => INTERVAL '30' SECOND, min_arity => 2) AS g;

-- Rules over a view: which segments in a row are jammed.
CREATE MATERIALIZED VIEW means AS
SELECT segment, window_end, AVG(speed) AS speed FROM TUMBLE(traffic, ts, INTERVAL '30' SECOND) GROUP BY segment, window_end;
CREATE MATERIALIZED VIEW jams WITH (rules='stretches.dl', output='stretch');
