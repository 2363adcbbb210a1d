module receiver

go 1.22
