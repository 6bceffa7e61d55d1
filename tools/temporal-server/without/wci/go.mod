module go.temporal.io/auto-scaled-workers

go 1.24
