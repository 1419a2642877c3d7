-- Latencies that another program said as figures (count, minimum, mean, maximum, percentiles), as
-- JSON: imported results have no histogram.
ALTER TABLE direction ADD COLUMN stated TEXT;
