BEGIN TRANSACTION;
CREATE TABLE answers (
	id VARCHAR(32) NOT NULL, 
	paper VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	profile VARCHAR NOT NULL, 
	decided FLOAT NOT NULL, 
	environment VARCHAR NOT NULL, 
	decision TEXT NOT NULL, 
	own TEXT NOT NULL, 
	described TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "answers" VALUES('524b635aa742d767bc0767a48c256834','toy','c+of-mine','quick',1500000000.0,'4a03c69c646cc06e','{"low":0.1,"parts":[{"low":null}],"verdict":"holds"}','{"arms":{"mine":"my_package:Mine"},"data":[{"content":"71d0","dataset":"own-my","file":"my.csv"}],"options":{"target":"y"}}','{"claim":"c","controls":{},"criterion":"the mean m of mine is at least 1","replicates":20,"statement":"It is.","title":"Toy"}');
CREATE TABLE environments (
	id VARCHAR NOT NULL, 
	described TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "environments" VALUES('4a03c69c646cc06e','{"cores": 2, "host": "reader", "memory_gb": 7.8, "system": "Linux x86_64", "versions": {"numpy": "2.3.5", "probatum": "0.1.0", "python": "3.11.7"}}');
CREATE TABLE facts (
	name VARCHAR NOT NULL, 
	value VARCHAR, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('schema','1');
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	attempt INTEGER NOT NULL, 
	final BOOLEAN NOT NULL, 
	paper VARCHAR NOT NULL, 
	experiment VARCHAR NOT NULL, 
	arm VARCHAR NOT NULL, 
	dataset VARCHAR NOT NULL, 
	replicate INTEGER NOT NULL, 
	size TEXT NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	message TEXT NOT NULL, 
	traceback TEXT NOT NULL, 
	rows TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	peak_mb FLOAT, 
	limit_seconds FLOAT NOT NULL, 
	limit_gb FLOAT NOT NULL, 
	started FLOAT NOT NULL, 
	environment VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("key", attempt)
);
INSERT INTO "trials" VALUES(1,'k1',1,1,'toy','e','a','d',0,'{"n": [1, 2]}','f','ok','','','[["a","one",0.1,{"m":0.3333333333333333,"k":-0.0},{"hit":[1,2]}],["a","",null,{"m":5e-324},{}]]',1.5,3.0,10.0,1.0,9.0,'4a03c69c646cc06e');
INSERT INTO "trials" VALUES(2,'k2',1,0,'toy','e','a','d',1,'{}','f','timeout','no result within the limit of 10 s','','[]',10.0,NULL,10.0,1.0,10.0,'4a03c69c646cc06e');
INSERT INTO "trials" VALUES(3,'k2',2,1,'toy','e','a','d',1,'{}','f','raised','ValueError: it''s ''quoted''','Traceback
  line "two"
','[]',0.25,NULL,10.0,1.0,20.5,'4a03c69c646cc06e');
CREATE INDEX trials_by_experiment ON trials (paper, experiment);
COMMIT;
