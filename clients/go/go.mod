module github.com/berth/berth/clients/go

go 1.22
